import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import humanexp.core.clock


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("recruitment", "0031_hook_events"),
    ]

    operations = [
        migrations.CreateModel(
            name="CampaignHold",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "reason",
                    models.CharField(
                        choices=[
                            ("wage", "the median hour pays less than the minimum"),
                            ("wage-again", "the median hour pays less than the minimum after a top-up"),
                            ("returns", "many people give their places back"),
                        ],
                        max_length=12,
                    ),
                ),
                ("measured", models.PositiveIntegerField()),
                ("limit", models.PositiveIntegerField()),
                ("people", models.PositiveIntegerField()),
                ("has_paused", models.BooleanField(default=False)),
                ("began_at", models.DateTimeField(default=humanexp.core.clock.now)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="holds", to="recruitment.campaign"
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
                "constraints": [
                    models.UniqueConstraint(fields=("campaign", "reason"), name="campaign_held_once_for_a_reason")
                ],
            },
        ),
        migrations.CreateModel(
            name="CampaignTopUp",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("amount_cents", models.PositiveIntegerField()),
                ("floor_cents", models.PositiveIntegerField()),
                ("before_cents", models.PositiveIntegerField()),
                ("after_cents", models.PositiveIntegerField()),
                ("total_cents", models.PositiveIntegerField()),
                ("created_at", models.DateTimeField(default=humanexp.core.clock.now)),
                (
                    "campaign",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="top_up",
                        to="recruitment.campaign",
                    ),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("amount_cents__gt", 0)), name="campaign_top_up_is_money")
                ],
            },
        ),
    ]
